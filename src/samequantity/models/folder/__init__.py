"""What lies in the models folder: verified, recorded, listed."""
