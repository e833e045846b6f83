// An MCP server that says what its script says, right or wrong: node scripted-mcp.js SCRIPT LOG, both as JSON and as a path.
// script: pages (the last one again and again), holdPage (from which it is silent), changes (notifications after each list),
// pings (after each list), initialize (fields of its answer), results (by tool). An answer with `error` is an error of JSON-RPC. Each method that is asked goes into the log.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [script, log] = process.argv.slice(2);
const { pages, holdPage, changes = 0, pings, initialize = {}, results = {} } = JSON.parse(script);
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let listed = 0;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (log !== undefined) appendFileSync(log, `${method ?? `answer to ${id}`}\n`);
  const answer = (result) =>
    say(result.error === undefined ? { id, result } : { id, error: result.error });
  if (method === 'initialize')
    answer({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'scripted', version: '1' },
      ...initialize,
    });
  if (method === 'tools/list') {
    const page = pages[Math.min(listed++, pages.length - 1)];
    if (holdPage === undefined || listed < holdPage) answer(page);
    if (pings) say({ id: 'ping', method: 'ping' }); // its answer is in the log: what was said before it has been read
    for (let at = 0; at < changes; at++) say({ method: 'notifications/tools/list_changed' });
  }
  if (method === 'tools/call') answer(results[params.name]);
});
