export * from '@sluice/openclaw/parity';
export * from '@sluice/testing';
