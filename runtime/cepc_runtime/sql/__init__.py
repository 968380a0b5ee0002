"""SQL's types, expressions, functions and texts, as Spark means them; how expressions are evaluated here and written
for Spark.
"""
