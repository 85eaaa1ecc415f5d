"""Small widgets, one a file. They draw view-models and know nothing of the engine or the disk."""
