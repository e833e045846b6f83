export * from '@sluice/openclaw/gateway';
