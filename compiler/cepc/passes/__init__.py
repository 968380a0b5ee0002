"""The passes that rewrite the workload, one module or package each."""
