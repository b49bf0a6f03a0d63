"""Which data sets exist and how to get them."""
