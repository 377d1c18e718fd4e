// Package beam runs races and simulated occupation measures on Apache Beam: on this machine by
// default, and on a cluster of one architecture by a flag, with the same record to the byte. It is a module of its own, so
// that nobody else pays for Beam's size.
//
// A race is one small file ([Race]): problems, methods, settings in a grid, trials on the streams of a
// seed. From the folder of this module,
//
//	go run ./race race.json
//
// checks all of it, shows progress, and writes race.csv, a record that [race.ReadFile] reads. A
// program with problems, methods or moduli of its own has three lines ([RegisterProblem],
// [RegisterMethod], [RegisterModulus], then [Main]) and takes the same flags.
//
//	{
//	  "Problems": [{"Name": "queue"}, {"Name": "random", "Settings": {"Dim": 5, "Instance": 3}}],
//	  "Methods": [{"Name": "penalty", "Grid": {"Weight": [16, 128], "StepSize": [{"InverseSqrt": 1}, {"InverseSqrt": 8}]}}],
//	  "Trials": 1000, "Seed": 1, "Queries": [100, 10000]
//	}
//
// # Runners
//
// Beam's Prism runs in the process of the command without any flag. Its workers can be processes of
// their own, and it can be a server of its own (go run github.com/apache/beam/sdks/v2/go/cmd/prism):
//
//	go run ./race --environment_type PROCESS race.json
//	go run ./race --runner universal --endpoint localhost:8073 --environment_type PROCESS race.json
//
// and another runner is the Python SDK's
// (python -m apache_beam.runners.portability.local_job_service_main -p 8099):
//
//	go run ./race --runner universal --endpoint localhost:8099 --environment_type LOOPBACK race.json
//
// These are tested. The job servers of Flink and Spark and Google's Dataflow take what follows, as
// Beam's documentation has it; nobody has run it here. Output is where all workers can write.
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
// # What is done where
//
// Trials are cut into tasks of seconds, by the time of a run that [Submit] takes. Each worker builds a
// problem once, when it is first needed, from its description: nothing of a model is sent. What runs come
// to is added up without rounding ([Statistic]), so that neither cuts nor the order in which tasks end
// leave a trace. A run that fails or diverges is a row of the quantity [race.Failure]. A worker that was built from
// other code, by another Go or for another kind of processor than the submitting program refuses to work,
// because its numbers might differ in a bit.
//
// Runners of clusters do the tasks of a worker that dies again. The local ones end a job with its worker,
// and Prism 2.77 does not always notice that one has died. So workers count the seconds that they are at
// work, and when none has done so for --patience the command cancels the job. In both cases it starts the
// race again, up to twice, and the progress line says why.
//
// # What was measured
//
// On two cores of a Xeon at 2.5 GHz with nothing else to do, of runs of 10.7 ms the pipeline does 96 % of those that
// package race does in the same time (BenchmarkThroughput). Beside other work, networks of queues with six rules take
// (BenchmarkBuild)
//
//	states       the MDP       Ψ    the measures behind Ψ, sent to this machine
//	13,689         0.1 s    1.7 s     0.7 MB in 0.01 s
//	108,900        0.6 s     14 s       5 MB in 0.02 s
//	1,028,196        6 s    140 s      49 MB in 0.3 s
//
// To send measures, as a side input or a file, would spare each worker one Ψ, and not the MDP. They are
// rebuilt all the same. Workers do that at one time, while measures come from one place: at 1 Gbit/s
// the largest take 0.4 s a worker, and for 350 workers as long as Ψ. Nor do problems of one's own need
// anything but a description then. A race that is worth a cluster takes hours beside it.
package beam
