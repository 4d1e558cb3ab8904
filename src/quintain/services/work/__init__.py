"""What work needs and earns: quizzes, qualifications, pay."""
