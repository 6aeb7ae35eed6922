"""Tools that let any MCP client save and resume its work in SnapState."""
