"""A checked program run in this process: its events read, its plans executed, its rows in order."""
