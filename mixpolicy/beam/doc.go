// Package beam runs races and simulates occupation measures on Apache Beam: on this machine by default or, with a flag,
// on a cluster of machines of one architecture. If one build of a program executes a race several times, each execution
// writes the same record, byte for byte. The package is in a separate module, so only its users download Beam.
//
// A race is one small file ([Race]). The file lists problems and methods. For each method, the file may give a grid of
// settings. The file also gives the number of trials and a seed. The following command, run in the folder of this
// module, checks the race, runs it, shows progress, and writes the record race.csv, which [race.ReadFile] reads.
//
//	go run ./race race.json
//
// A program with its own problems, methods or moduli calls [RegisterProblem], [RegisterMethod] or [RegisterModulus],
// and then [Main]. The program then accepts the same flags as the command race. A race file looks as follows.
//
//	{
//	  "Problems": [{"Name": "queue"}, {"Name": "random", "Settings": {"Dim": 5, "Instance": 3}}],
//	  "Methods": [{"Name": "penalty", "Grid": {"Weight": [16, 128], "StepSize": [{"InverseSqrt": 1}, {"InverseSqrt": 8}]}}],
//	  "Trials": 1000, "Seed": 1, "Queries": [100, 10000]
//	}
//
// # Runners
//
// Without any flag, Beam's local runner, Prism, runs in the process of the command. Prism's workers can be separate
// processes, and Prism itself can be a separate server (go run github.com/apache/beam/sdks/v2/go/cmd/prism):
//
//	go run ./race --environment_type PROCESS race.json
//	go run ./race --runner universal --endpoint localhost:8073 --environment_type PROCESS race.json
//
// Another runner is in Beam's Python SDK (python -m apache_beam.runners.portability.local_job_service_main -p 8099):
//
//	go run ./race --runner universal --endpoint localhost:8099 --environment_type LOOPBACK race.json
//
// We test all runners above. According to Beam's documentation, the following commands work with the job servers of
// Flink and Spark and with Google's Dataflow; we have not run these commands. Every worker must be able to write to the
// place that --output names.
//
//	docker run --net=host apache/beam_flink1.20_job_server --flink-master=HOST:8081
//	go run ./race --runner flink --endpoint localhost:8099 --output s3://BUCKET/race.csv race.json
//
//	docker run --net=host apache/beam_spark3_job_server --spark-master-url=spark://HOST:7077
//	go run ./race --runner spark --endpoint localhost:8099 --output gs://BUCKET/race.csv race.json
//
//	go run ./race --runner dataflow --project PROJECT --region REGION \
//		--staging_location gs://BUCKET/staging --output gs://BUCKET/race.csv race.json
//
// # Where the work is done
//
// Trials are cut into tasks of at most about two seconds, except that a task contains at least one trial. To choose the
// size of the tasks, [Submit] times one run of each method, in each setting on each problem. When a worker first needs
// a problem, it builds the problem as the race file describes it; no part of a model is sent. Results of runs are added
// up without rounding ([Statistic]), so the record does not depend on how the trials are cut, or on the order in which
// tasks end. If runs of a method fail or diverge, a row with the quantity [race.Failure] counts these runs and states
// the error of the one with the lowest stream number. All workers, and the program that submits the race, must be built
// from the same code, with the same version of Go, for the same kind of processor. A worker refuses to work if Go's
// build information shows another build, because the results might then differ in the last bits.
//
// The runner of a cluster repeats the tasks of a worker that dies. With the local runners, a job ends when the runner
// notices that a worker has died, but Prism 2.77 does not always notice a death. So each worker counts the seconds of
// its work. When no count has grown for the time that --patience gives, the command cancels the job. After a worker's
// death or such a cancellation, the command starts the race again, up to twice, and the progress line says why.
//
// # Measurements
//
// On two otherwise idle cores of a Xeon at 2.5 GHz, the pipeline completes 96 % as many runs as package race in the
// same time; a run takes 10.7 ms (BenchmarkThroughput). The following times and sizes are for the network of four
// queues, with the six rules as base policies (BenchmarkBuild). During this benchmark, the machine was also doing other
// work.
//
//	states       the MDP       Ψ    the measures behind Ψ, over a local connection
//	13,689         0.1 s    1.7 s     0.7 MB in 0.01 s
//	108,900        0.6 s     14 s       5 MB in 0.02 s
//	1,028,196        6 s    140 s      49 MB in 0.3 s
//
// Each worker rebuilds the MDP and Ψ. If the measures behind Ψ were sent, as a side input or a file, a worker would not
// compute Ψ, but would still build the MDP. All workers can rebuild at the same time, whereas the measures would have
// to be sent from one place. At 1 Gbit/s, sending the measures of the largest network takes 0.4 s for each worker, so
// sending them to 350 workers takes as long as computing Ψ once. Because workers rebuild problems, a race file needs
// only a description of a problem, even of a user's own problem. Moreover, a race that needs a cluster takes hours, so
// two minutes of rebuilding matter little.
package beam
