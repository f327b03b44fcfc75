// A client of Strapi's MCP server: JSON-RPC over HTTP, without a session.
const message = (text) => {
  // One event with one message, or the message itself.
  const line = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .find((one) => one.startsWith('data: '))
        ?.slice(6);
  return line ? JSON.parse(line) : null;
};

export const createMcp = (strapi, token) => {
  const call = async (method, params = {}) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    if (token) headers.Authorization = `Bearer ${token}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(`${strapi}/mcp`, { method: 'POST', headers, body });
    const found = message(await response.text());
    return { status: response.status, result: found?.result, error: found?.error };
  };
  return {
    call,
    initialize: () =>
      call('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'e2e', version: '1' },
      }),
    tools: async () => (await call('tools/list')).result?.tools ?? [],
    // The texts and the data of a tool's answer; `error` for a refused call.
    async tool(name, args) {
      const { result, error } = await call('tools/call', { name, arguments: args });
      const texts = result?.content.map(({ text }) => text) ?? [];
      return {
        text: texts[0],
        texts,
        data: result?.structuredContent,
        isError: result?.isError ?? false,
        error,
      };
    },
  };
};
