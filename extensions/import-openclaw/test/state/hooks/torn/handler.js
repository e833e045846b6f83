export default async (event) => {
  console.error(`noted ${event.type}:${event.action}`);
};
