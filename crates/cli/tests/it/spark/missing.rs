//! What is said where Spark, Java or the cluster is missing.

use crate::program::{End, Lab, shell_study};

fn refused(variables: &[(&str, &str)], master: &str) -> End {
    let lab = Lab::with_study(&shell_study("[1, 2]", "exit 0", ""));
    let mut command = lab.command(&["run", "study.toml", "--engine", "spark", "--master", master]);
    command.env("HOME", lab.folder()).env_remove("XDG_DATA_HOME").env_remove("SPARK_HOME");
    command.envs(variables.iter().copied());
    End::of(command)
}

#[test]
fn a_missing_spark_says_what_to_install() {
    let end = refused(&[("PYSPARK_PYTHON", "/bin/false")], "local[1]");
    assert_eq!(end.code, Some(3), "{end:?}");
    end.says(&["trainwright engine setup spark", "pip install pyspark==", "SPARK_HOME"]);
}

#[test]
fn a_wrong_spark_home_is_named() {
    let end = refused(&[("SPARK_HOME", "/no/spark")], "local[1]");
    assert_eq!(end.code, Some(3), "{end:?}");
    end.says(&["SPARK_HOME is /no/spark", "bin/spark-submit"]);
}

#[test]
fn a_missing_java_says_what_to_install() {
    if !super::Cluster::is_possible() {
        return;
    }
    let end = refused(&[("JAVA_HOME", "/no/java")], "local[1]");
    assert_eq!(end.code, Some(3), "{end:?}");
    end.says(&["Spark needs Java 17", "/no/java/bin/java", "openjdk-17-jre-headless"]);
}

#[test]
fn an_engine_without_a_cluster_is_refused() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "exit 0", ""));
    lab.expect(2, &["run", "study.toml", "--engine", "spark"]).says(&["needs --master"]);
    lab.expect(2, &["run", "study.toml", "--master", "local[1]"]).says(&["--engine spark"]);
}
