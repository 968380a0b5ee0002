"""Events from files and tables: one pyarrow table with the columns and types that a plan reads, or what is wrong with
the data.
"""
