export * from '@sluice/agent';
export * from '@sluice/claude/agent';
