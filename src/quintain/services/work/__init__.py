"""What work needs and earns: quizzes and qualifications."""
