/** Every test bed has a task queue, and so a Worker Deployment, of its own. A server takes 100 of them in a namespace by default. */
export const roomForDeployments = { 'matching.maxDeployments': 1000 };
