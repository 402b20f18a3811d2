// One scope has one worker, so this one is both. MSW first: what it mocks it answers, and while no page mocks
// anything it leaves all requests to the retries. Ship a worker without its line.
importScripts('mockServiceWorker.js');
importScripts('steadfetch.dropin.js');
steadfetch.createRetryLayer().listen();
