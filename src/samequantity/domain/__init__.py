"""What is measured: quantities, problems, views, answers. Standard library only, no input or output."""
