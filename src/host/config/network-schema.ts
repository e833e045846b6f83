import { z } from 'zod';
import { name } from './name.js';

/** The OpenClaw gateway that agents are behind. */
export const gateway = z.strictObject({
  url: z
    .string()
    .regex(/^wss?:\/\/./, 'expected an address that begins with "ws://" or "wss://"')
    .describe('the address of an OpenClaw gateway, "ws://127.0.0.1:18789" where unsaid')
    .exactOptional(),
  token: name
    .describe(
      'its token, as { "env": "NAME" }; OPENCLAW_GATEWAY_TOKEN of the environment where unsaid',
    )
    .exactOptional(),
  password: name
    .describe('its password instead; OPENCLAW_GATEWAY_PASSWORD of the environment where unsaid')
    .exactOptional(),
  device: name
    .describe('the path of the file with the key that the gateway knows this host by')
    .exactOptional(),
});

const port = z.number().int().min(0).max(65_535);

/** The port that a monitor asks. */
export const health = z.strictObject({
  port: port.describe('the number of a port, or 0 for one that is free'),
  address: name
    .describe('the address to listen at, "127.0.0.1" where unsaid; any other lets others see it')
    .exactOptional(),
  hosts: z
    .array(name)
    .describe(
      'names that it may be asked by at a loopback address, beside "localhost": of a proxy before it, say',
    )
    .exactOptional(),
});
