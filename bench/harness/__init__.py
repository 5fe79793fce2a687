"""Parts of the benchmark that know nothing of what is measured: processes, load, texts, statistics, reports."""
