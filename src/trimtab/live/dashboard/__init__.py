"""The dashboard: one page that the gateway serves, and that reads the gateway's HTTP interface alone."""
