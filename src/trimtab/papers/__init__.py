"""What each paper reported, and how it is measured here."""
