"""What is asked, and what its board is to rank."""
