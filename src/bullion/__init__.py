"""Bullion: a self-hosted trading service for bullion brokers."""

__version__ = "0.1.0"
