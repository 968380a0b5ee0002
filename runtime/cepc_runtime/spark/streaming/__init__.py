"""A generated job as a stream: `cepc_runtime.streaming` inside Spark's stateful operator."""
