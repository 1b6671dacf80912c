"""A server with the chat interface of OpenAI's."""
