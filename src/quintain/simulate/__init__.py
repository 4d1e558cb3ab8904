"""People who are not there: models of workers that drive the real services, for demos, load tests and forecasts."""
