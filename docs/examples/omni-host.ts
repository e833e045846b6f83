import type { ChannelPlugin } from 'sluice/channel';
import { createHost, type Host } from 'sluice/host';
import type { AgentProvider } from 'sluice/stream';

/** Starts a host with one channel and one agent. */
export async function hostOf(channel: ChannelPlugin, provider: AgentProvider): Promise<Host> {
  const agents = [{ id: 'main', provider }];
  const host = createHost({ channels: [channel], agents });
  await host.start();
  return host;
}
