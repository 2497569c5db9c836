/** For a worker without workflows of the user. */
export {};
