export * from '@sluice/sdk/chat';
