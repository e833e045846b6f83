import { z } from 'zod';

const bound = z.number().int().min(0);

/** The part of their sessions that agents get. */
export const session = z.strictObject({
  history: z
    .strictObject({
      maxMessages: bound
        .describe('how many messages of its session an agent gets at most, 200 where unsaid')
        .exactOptional(),
      maxTokens: bound
        .describe(
          'how many tokens these may have by estimate, four characters each, 100000 where unsaid',
        )
        .exactOptional(),
    })
    .describe('an object with the bounds of what an agent gets of its session')
    .exactOptional(),
});
