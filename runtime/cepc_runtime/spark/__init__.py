"""What a generated Spark job needs: the source, the kernel as a function over Arrow batches, the command line, the
sinks.

Only modules that run in the driver import pyspark.
"""
