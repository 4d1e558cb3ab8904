"""Reports: what was collected, judged and measured, compared and explained."""
