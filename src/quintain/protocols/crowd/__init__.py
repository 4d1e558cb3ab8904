"""A simulated crowd that goes through protocols in memory: what a trial would cost and show, before it is launched."""
