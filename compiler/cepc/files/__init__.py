"""From what a command line names to sources, with a diagnostic for each thing that is no readable program text."""
