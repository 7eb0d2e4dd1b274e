"""Trimtab: learned resource management for serverless clusters and edge-to-cloud inference."""

__version__ = "0.1.0"
