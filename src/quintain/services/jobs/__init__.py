"""What is done outside of requests, and figures that are kept up as facts arrive."""
