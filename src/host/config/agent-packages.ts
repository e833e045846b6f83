/**
 * The agents that packages bring: the beginning of a name, and the form of the text behind its colon. `openai:MODEL@URL` comes from
 * the package `sluice-openai`, whose extension has the id `openai`, and gets `MODEL@URL` in its setting `asked`, a list.
 */
export const agentPackages: Readonly<Record<string, string>> = {
  acp: 'COMMAND',
  openai: 'MODEL@URL',
};

/** The names of such agents, as people write them. */
export const packageAgentForms: readonly string[] = Object.entries(agentPackages).map(
  ([scheme, rest]) => `${scheme}:${rest}`,
);
