"""From a source to the models folder: the sources, and the one way in."""
