"""What answers a prompt."""
