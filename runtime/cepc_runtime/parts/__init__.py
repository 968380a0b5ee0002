"""A batch in parts: on threads, by ranges of groups or pieces of time, and on disk where events do not fit into
memory.
"""
