"""Pages of items that judges claim and submit, and what follows for the slots behind them."""
