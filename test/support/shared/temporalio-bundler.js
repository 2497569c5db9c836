module.exports = globalThis.sharedModule('@temporalio/worker/lib/workflow/bundler');
