"""A stream is killed, and its checkpoint is damaged, at every place where that can matter: rows are still those of a
batch.
"""
