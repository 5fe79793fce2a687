"""The memex service: everything that needs third-party packages. `memex` never imports it eagerly."""
