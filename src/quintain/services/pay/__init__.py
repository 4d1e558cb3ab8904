"""What people earn, the ledger that it is booked in, and how it is paid."""
