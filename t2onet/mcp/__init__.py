"""An MCP server: tools for agents, over stdio, for photos below the folders it was started with.

`folders` says which files may be read and written, `files` writes them, `photos` keeps what is open, `tools`
has the tools, `declarations` what clients are told of them, and `server` speaks the protocol (extra `mcp`).
"""
