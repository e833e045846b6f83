import type { Kernel } from 'sluice';
import {
  bridgeGateway,
  loadDeviceIdentity,
  OpenClawAgentProvider,
  OpenClawClient,
} from 'sluice/gateway';
import type { AgentAnswer, AgentTrigger } from 'sluice/stream';

/** Asks an agent of a gateway, and watches what others ask there. */
export async function askGateway(
  kernel: Kernel,
  trigger: AgentTrigger,
  show: (delta: object) => void,
): Promise<AgentAnswer> {
  const client = new OpenClawClient({
    url: 'ws://127.0.0.1:18789',
    token: process.env.OPENCLAW_GATEWAY_TOKEN ?? '',
    device: await loadDeviceIdentity('.sluice/device.pem'), // made once
  });
  client.start();
  const agent = new OpenClawAgentProvider({ client, agentId: 'main' });

  for await (const delta of agent.triggerStream(trigger)) show(delta); // ends with one final or one error
  const answer = await agent.trigger(trigger); // the whole answer
  await using bridge = bridgeGateway(kernel, client); // observes the runs that others start there
  return bridge && answer;
}
