"""Item response theory: how hard items are and how well they tell respondents apart, and how able respondents are."""
